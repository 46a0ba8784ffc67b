import type { StackAdapter } from '../adapter.js';

/** @nestjs/schedule: timers. */
const nestSchedule = {
  name: 'nest-schedule',
  title: '@nestjs/schedule',
  docs: 'https://docs.nestjs.com/techniques/task-scheduling',
  language: 'ts',
  enablers: ['@nestjs/schedule'],
  entries: [
    { decorator: '@nestjs/schedule:Cron', entry: 'cron' },
    { decorator: '@nestjs/schedule:Interval', entry: 'cron' },
    { decorator: '@nestjs/schedule:Timeout', entry: 'cron' },
  ],
} satisfies StackAdapter;

export default nestSchedule;
