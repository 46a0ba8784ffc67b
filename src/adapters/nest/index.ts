import type { EntryMatcher, StackAdapter } from '../adapter.js';

const ROUTES = ['Get', 'Post', 'Put', 'Patch', 'Delete', 'All', 'Options', 'Head', 'Sse'].map((name): EntryMatcher => ({ decorator: `@nestjs/common:${name}`, entry: 'http' }));
const RESOLVERS = ['Query', 'Mutation', 'ResolveField', 'Subscription'].map((name): EntryMatcher => ({ decorator: `@nestjs/graphql:${name}`, entry: 'http' }));

/** Nest itself: routes and injection. */
const nest = {
  name: 'nest',
  title: 'NestJS',
  docs: 'https://docs.nestjs.com',
  language: 'ts',
  enablers: ['@nestjs/common'],
  entries: [...ROUTES, ...RESOLVERS],
  injectors: ['@nestjs/common:Inject'],
  modules: ['@nestjs/common:Module'],
} satisfies StackAdapter;

export default nest;
