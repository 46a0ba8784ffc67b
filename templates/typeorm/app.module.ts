import { Module } from '@nestjs/common';

/** Stands for the module of the user's application, so that `outbox/relay/main.ts` compiles here; it is never copied. */
@Module({})
export class AppModule {}
