import { ts } from 'ts-morph';
import type { MemberFact, TypeFact } from '../facts.js';

const OTHER: TypeFact = { kind: 'other', name: '', args: [] };

/** Dotted text of an entity name or property access; null when it is anything else. */
export function dottedName(node: ts.Node): string | null {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isQualifiedName(node)) return join(dottedName(node.left), node.right.text);
  if (ts.isPropertyAccessExpression(node)) return join(dottedName(node.expression), node.name.text);
  return null;
}

function join(left: string | null, right: string): string | null {
  return left === null ? null : `${left}.${right}`;
}

/** A type as written. `Promise<X>`, `Readonly<X>` and the like are kept: the linker sees through them. */
export function typeFact(node: ts.TypeNode | undefined): TypeFact | null {
  return node === undefined ? null : toType(node);
}

function toType(node: ts.TypeNode): TypeFact {
  if (ts.isTypeReferenceNode(node)) {
    return { kind: 'reference', name: dottedName(node.typeName) ?? '', args: (node.typeArguments ?? []).map(toType) };
  }
  if (ts.isExpressionWithTypeArguments(node)) {
    return { kind: 'reference', name: dottedName(node.expression) ?? '', args: (node.typeArguments ?? []).map(toType) };
  }
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) return { kind: 'union', name: '', args: node.types.map(toType) };
  if (ts.isArrayTypeNode(node)) return { kind: 'array', name: '', args: [toType(node.elementType)] };
  if (ts.isParenthesizedTypeNode(node)) return toType(node.type);
  if (ts.isTypeOperatorNode(node)) return toType(node.type);
  if (ts.isTypeLiteralNode(node)) return { kind: 'object', name: '', args: [], members: membersOf(node.members) };
  if (ts.isTypeQueryNode(node)) return { kind: 'typeof', name: dottedName(node.exprName) ?? '', args: [] };
  return OTHER;
}

/** Properties and methods of an interface or an object type. */
export function membersOf(members: ts.NodeArray<ts.TypeElement>): MemberFact[] {
  return members.flatMap((member): MemberFact[] => {
    if (member.name === undefined || !(ts.isIdentifier(member.name) || ts.isStringLiteral(member.name))) return [];
    if (ts.isMethodSignature(member)) return [{ name: member.name.text, type: typeFact(member.type), isMethod: true }];
    if (!ts.isPropertySignature(member)) return [];
    if (member.type !== undefined && ts.isFunctionTypeNode(member.type)) return [{ name: member.name.text, type: typeFact(member.type.type), isMethod: true }];
    return [{ name: member.name.text, type: typeFact(member.type), isMethod: false }];
  });
}
