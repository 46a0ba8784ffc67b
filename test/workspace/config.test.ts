import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { completeConfig, defaultConfig, parseConfig, readConfig } from '../../src/workspace/config.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';
import { temporaryProject } from '../project.js';

const validate = new Ajv2020().compile(JSON.parse(readFileSync('schemas/config.schema.json', 'utf8')));

describe('a configuration that is taken', () => {
  test.each([
    { name: 'nothing', text: '{}', expected: {} },
    { name: 'a byte order mark', text: '\ufeff{"schemaVersion": 1}', expected: {} },
    { name: 'a schema for editors', text: '{"$schema": "./x.json", "exclude": ["legacy/**"]}', expected: { exclude: ['legacy/**'] } },
    { name: 'one of the table names', text: '{"tables": {"outbox": "events_out"}}', expected: { tables: { outbox: 'events_out', inbox: 'inbox', schema: null } } },
    { name: 'a wrapper', text: '{"publishers": [{"module": "src/bus", "export": "Bus", "method": "send", "transport": "broker"}]}', expected: { publishers: [{ module: 'src/bus', export: 'Bus', method: 'send', transport: 'broker' }] } },
    { name: 'a folder with a dot and a slash', text: '{"services": [{"name": "a", "root": "./apps/a/"}]}', expected: { services: [{ name: 'a', root: 'apps/a' }] } },
    { name: 'no ORM', text: '{"services": [{"name": "a", "root": ".", "orm": null, "migrations": null, "database": null}]}', expected: { services: [{ name: 'a', root: '.', orm: null, migrations: null, database: null }] } },
  ])('$name', ({ text, expected }) => {
    expect(parseConfig(text)).toEqual({ ...defaultConfig, ...expected });
    expect(validate(JSON.parse(text.replace('\ufeff', '')))).toBe(true);
  });

  test('what is missing of a service is detected', () => {
    const workspace = memoryWorkspace({ 'apps/a/package.json': '{"dependencies": {"typeorm": "1", "pg": "8"}}', 'apps/a/src/main.ts': '' });
    const config = completeConfig(parseConfig('{"services": [{"name": "a", "root": "apps/a", "databaseUrlEnv": "A_URL"}]}'), workspace);
    expect(config.services).toEqual([
      { name: 'a', root: 'apps/a', orm: 'typeorm', buses: [], database: 'postgresql', migrations: { tool: 'typeorm', directory: 'apps/a/src/migrations' }, outbox: 'apps/a/src/outbox', databaseUrlEnv: 'A_URL' },
    ]);
  });
});

describe('a configuration that is refused', () => {
  test.each([
    { text: '{"exclude": [}', code: 'config-not-json', says: "'outboxify.json' (line 1) is not JSON" },
    { text: '{\n  "exclude": []\n  "tables": {}\n}', code: 'config-not-json', says: '(line 3)' },
    { text: '{\n  "exclude": [\n', code: 'config-not-json', says: '(line 2)' },
    { text: '[]', code: 'config-invalid', says: "'the file' in 'outboxify.json': expected an object, found a list." },
    { text: 'null', code: 'config-invalid', says: 'expected an object, found null' },
    { text: '{"schemaVersion": 2}', code: 'config-invalid', says: "'schemaVersion' in 'outboxify.json': expected 1, found 2." },
    { text: '{"excludes": []}', code: 'config-unknown-field', says: "'exclude' is meant" },
    { text: '{"__proto__": {}}', code: 'config-unknown-field', says: "'__proto__'" },
    { text: '{"constructor": {}}', code: 'config-unknown-field', says: "'constructor'" },
    { text: '{"exclude": "dist"}', code: 'config-invalid', says: "expected a list, found 'dist'" },
    { text: '{"exclude": ["a", ""]}', code: 'config-invalid', says: "'exclude[1]'" },
    { text: '{"publishers": [{"module": "x"}]}', code: 'config-invalid', says: "'publishers[0].export' in 'outboxify.json': expected to be there, it is missing." },
    { text: '{"tables": {"outbox": "a;drop table b"}}', code: 'config-invalid', says: 'expected a name of letters, digits and _' },
    { text: '{"tables": {"schema": "a\\"b"}}', code: 'config-invalid', says: "'tables.schema'" },
    { text: '{"services": [{"name": "a", "root": "../b"}]}', code: 'config-invalid', says: 'expected a folder in the project' },
    { text: '{"services": [{"name": "a", "root": "/etc"}]}', code: 'config-invalid', says: 'expected a folder in the project' },
    { text: '{"services": [{"name": "a", "root": ".", "orm": "hibernate"}]}', code: 'config-invalid', says: "expected 'typeorm', null, found 'hibernate'" },
    { text: '{"services": [{"name": "a", "root": "a"}, {"name": "a", "root": "b"}]}', code: 'config-invalid', says: 'a name that no other service has' },
    { text: '{"services": [{"name": "a", "root": ".", "databaseUrlEnv": "postgres://u:secret@h/d"}]}', code: 'config-invalid', says: 'the name of an environment variable' },
  ])('$text', ({ text, code, says }) => {
    const error = errorOf(() => parseConfig(text));
    expect(error).toMatchObject({ code, file: 'outboxify.json', hint: expect.stringMatching(/\.$/) });
    expect(error.message).toContain(says);
    expect(error.message).not.toContain('secret');
  });

  test('the published schema and the reader agree on what is wrong', () => {
    for (const text of ['[]', '{"schemaVersion": 2}', '{"excludes": []}', '{"exclude": "dist"}', '{"tables": {"outbox": "a b"}}', '{"services": [{"name": "a"}]}']) {
      expect(validate(JSON.parse(text))).toBe(false);
      expect(() => parseConfig(text)).toThrow(ConfigError);
    }
  });
});

test('a missing outboxify.json is fine; a missing file that was named is not', () => {
  const root = temporaryProject({});
  expect(readConfig(root)).toBe(defaultConfig);
  expect(errorOf(() => readConfig(root, 'other.json'))).toMatchObject({ code: 'config-missing', file: 'other.json' });
});

test('a folder in place of the file is an error, not a missing configuration', () => {
  const root = temporaryProject({ 'outboxify.json/x': '' });
  expect(errorOf(() => readConfig(root))).toMatchObject({ code: 'config-unreadable' });
});

function errorOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
