import type { ts } from 'ts-morph';
import type { FunctionRef, ResolvedCall } from '../core/finding.js';
import type { Span } from '../core/place.js';
import type { ScanResult } from '../core/report.js';

/** What one analysis of a workspace knows. Made by `analyse`; immutable. */
export interface Analysis {
  readonly result: ScanResult;
  /** The function whose span is exactly `span`, or the innermost one around it. */
  functionAt(span: Span): FunctionRef | null;
  /** Every call in that function, in source order, those in closures within it included. */
  callsIn(span: Span): readonly ResolvedCall[];
  /** The parsed file: `ts` of ts-morph, with parent pointers. Null when it is not one of the project's. */
  sourceFile(file: string): ts.SourceFile | null;
  /** Classes of the project that implement or extend the class or interface of this name as seen from `file`, the class itself included. */
  implementations(file: string, typeName: string): readonly FunctionRef['className'][];
}
