import { ts } from 'ts-morph';
import type { Finding, WitnessStep } from '../../src/core/finding.js';

/** Steps of a witness that the source does not bear out. Empty when a reviewer can follow every one. */
export function unfollowable(finding: Finding, files: Readonly<Record<string, string>>): string[] {
  return finding.witness.flatMap((step, index) => {
    const line = files[step.file]?.split(/\r?\n/)[step.line - 1];
    const at = `step ${step.step} (${step.role}) at ${step.file}:${step.line}`;
    if (step.step !== index + 1) return [`${at}: is number ${index + 1}`];
    if (line === undefined) return [`${at}: there is no such line`];
    const name = nameIn(step, finding);
    const isClosure = step.role === 'entry' && /=>|\bfunction\b/.test(line);
    return name === null || isClosure || line.includes(name) ? [] : [`${at}: '${line.trim()}' does not hold '${name}' of '${step.text}'`];
  });
}

/** What must be readable on the line of a step. */
function nameIn(step: WitnessStep, finding: Finding): string | null {
  if (step.role === 'entry') return finding.handler.name.split('.').at(-1)?.replace(/^\((module|anonymous)\)$/, '') ?? null;
  if (step.role === 'crash') return null;
  const end = step.text.startsWith('committed at the end of ') ? step.text.slice('committed at the end of '.length) : null;
  if (end === null && !step.text.includes(': ')) return null;
  const code = end ?? step.text.slice(step.text.indexOf(': ') + 2);
  return code.startsWith('no transaction') ? null : calledName(code);
}

/** Name of the function that a piece of code calls; the code may be cut off. */
function calledName(code: string): string | null {
  if (code.startsWith('@')) return code.slice(1).split('(')[0] ?? null;
  const [statement] = ts.createSourceFile('x.ts', code.endsWith('…') ? '' : code, ts.ScriptTarget.Latest).statements;
  const call = statement !== undefined && ts.isExpressionStatement(statement) ? statement.expression : null;
  if (call === null || !ts.isCallExpression(call)) return null;
  if (ts.isPropertyAccessExpression(call.expression)) return call.expression.name.text;
  return ts.isIdentifier(call.expression) ? call.expression.text : null;
}
