import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { orderProject, subscriberSource } from './project.js';
import { outboxify } from './run.js';

const validate = new Ajv2020({ allErrors: true }).compile<{ outcome: string; patch: string; files: readonly { path: string; change: string }[] }>(
  JSON.parse(readFileSync('schemas/change.schema.json', 'utf8')),
);

const appModule = "import { Module } from '@nestjs/common';\n\n@Module({})\nexport class AppModule {}\n";

async function change(root: string, args: readonly string[]): Promise<{ outcome: string; patch: string; files: readonly { path: string; change: string }[] }> {
  const { stdout, stderr } = await outboxify([...args, '--format', 'json'], { cwd: root });
  const answer: unknown = JSON.parse(stdout);
  expect({ stderr, fits: validate(answer), errors: validate.errors }).toEqual({ stderr: expect.any(String), fits: true, errors: null });
  if (!validate(answer)) throw new Error('unreachable');
  return answer;
}

test('every command that changes files answers in the published shape, and its patch is taken by git apply', async () => {
  const root = temporaryProject({ ...orderProject, 'src/mail.controller.ts': subscriberSource, 'src/app.module.ts': appModule });
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  for (const args of [['migration', 'outbox'], ['migration', 'inbox'], ['rewrite', 'OrderService.place', '--to', 'dual-publish'], ['inbox', 'MailController.onPlaced'], ['relay']]) {
    const dry = await change(root, args);
    expect({ args, outcome: dry.outcome }).toEqual({ args, outcome: 'dry-run' });
    execFileSync('git', ['apply', '--check', '-'], { cwd: root, input: dry.patch });
    const written = await change(root, [...args, '--write']);
    expect(written.outcome).toBe('written');
    for (const file of written.files) expect(readFileSync(path.join(root, file.path), 'utf8')).not.toBe('');
  }
});

test('a refusal has its reasons in the published shape', async () => {
  const root = temporaryProject(orderProject);
  expect(await change(root, ['rewrite', 'OrderService.place', '--to', 'dual-publish'])).toMatchObject({ outcome: 'refused', files: [], patch: '' });
});
