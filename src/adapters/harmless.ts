/**
 * Packages without an adapter of which it is known that they don't hold a service's data, or don't carry its events either: calls
 * of other unknown packages are doubts. `no-store`: caches and clients, which may still publish.
 */
export const harmless: Readonly<Record<string, 'neither' | 'no-store'>> = {
  axios: 'neither', got: 'neither', ky: 'neither', undici: 'neither', 'node-fetch': 'neither', superagent: 'neither', 'google-auth-library': 'neither',
  express: 'neither', fastify: 'neither', koa: 'neither', hono: 'neither', 'socket.io': 'neither', 'socket.io-client': 'neither', ws: 'neither',
  winston: 'neither', pino: 'neither', 'nestjs-pino': 'neither', debug: 'neither', chalk: 'neither', dotenv: 'neither', '@sentry/node': 'neither', 'prom-client': 'neither',
  '@opentelemetry/api': 'neither', bcrypt: 'neither', bcryptjs: 'neither', argon2: 'neither', jsonwebtoken: 'neither', jose: 'neither', passport: 'neither', 'crypto-js': 'neither',
  'class-transformer': 'neither', 'class-validator': 'neither', joi: 'neither', zod: 'neither', yup: 'neither', ajv: 'neither', lodash: 'neither', 'lodash-es': 'neither', ramda: 'neither',
  rxjs: 'neither', moment: 'neither', dayjs: 'neither', 'date-fns': 'neither', luxon: 'neither', uuid: 'neither', nanoid: 'neither', bluebird: 'neither', async: 'neither',
  'p-limit': 'neither', 'p-queue': 'neither', sharp: 'neither', puppeteer: 'neither', nodemailer: 'neither', stripe: 'neither', i18next: 'neither', 'reflect-metadata': 'neither',
  'cache-manager': 'no-store', keyv: 'no-store', 'lru-cache': 'no-store', 'node-cache': 'no-store', ioredis: 'no-store', redis: 'no-store', 'nestjs-cls': 'no-store',
};
