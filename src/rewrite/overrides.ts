import { ts } from 'ts-morph';
import { walk } from './ast.js';
import { isTestFile, projectOf, type Declared } from './project.js';
import type { Workspace } from '../workspace/workspace.js';

/** A member of a subclass, at any level, that takes the place of a method; null: there is none outside of tests. */
export function findOverride(workspace: Workspace, file: string, method: ts.MethodDeclaration): Declared<ts.ClassElement> | null {
  const owner = method.parent;
  const name = method.name.getText();
  if (!ts.isClassLike(owner) || owner.name === undefined || (ts.getModifiers(method) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)) return null;
  const seen = new Set<string>();
  const search = (base: { readonly file: string; readonly name: string }): Declared<ts.ClassElement> | null => {
    for (const subclass of subclasses(workspace, base)) {
      const key = `${subclass.file}:${subclass.node.pos}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const member = subclass.node.members.find((candidate) => candidate.name?.getText() === name && !(ts.isMethodDeclaration(candidate) && candidate.body === undefined));
      if (member !== undefined) return { file: subclass.file, node: member };
      const deeper = subclass.node.name === undefined ? null : search({ file: subclass.file, name: subclass.node.name.text });
      if (deeper !== null) return deeper;
    }
    return null;
  };
  return search({ file, name: owner.name.text });
}

function subclasses(workspace: Workspace, base: { readonly file: string; readonly name: string }): readonly Declared<ts.ClassLikeDeclaration>[] {
  const project = projectOf(workspace);
  const found: Declared<ts.ClassLikeDeclaration>[] = [];
  // Under another name where an import renames it: every class that extends something may be one.
  for (const file of project.filesMentioning('extends')) {
    const source = isTestFile(file) ? null : project.source(file);
    if (source === null) continue;
    walk(source, (node) => {
      if (!ts.isClassLike(node)) return;
      const type = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
      const declared = type === undefined ? null : project.findType(file, type);
      if (declared?.file === base.file && declared.node.name?.text === base.name) found.push({ file, node: node });
    });
  }
  return found;
}
