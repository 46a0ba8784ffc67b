import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { validateSarif } from '../report/sarif-schema.js';
import { orderProject, safeProject } from './project.js';
import { outboxify } from './run.js';

const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync('schemas/check.schema.json', 'utf8')));

test.each([
  { name: 'a new dual write', files: orderProject, code: 1 },
  { name: 'nothing to complain about', files: safeProject, code: 0 },
])('check answers in the published shape and in SARIF: $name', async ({ files, code }) => {
  const root = temporaryProject(files);
  const json = await outboxify(['check', '--format', 'json'], { cwd: root });
  const answer = JSON.parse(json.stdout);
  validate(answer);
  expect({ errors: validate.errors, code: json.code, isEmpty: answer.problems.length === 0 }).toEqual({ errors: null, code, isEmpty: code === 0 });
  expect(answer.checked).toContain('new-dual-write');
  const sarif = await outboxify(['check', '--format', 'sarif'], { cwd: root });
  validateSarif(JSON.parse(sarif.stdout));
  expect({ errors: validateSarif.errors, code: sarif.code }).toEqual({ errors: null, code });
});
