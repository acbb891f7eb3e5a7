import { ensureSyntaxTree } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import type { EditorState } from '@codemirror/state';

export interface CodeFault {
  /** From 1. */
  line: number;
  /** From 1. Without one the whole line is at fault. */
  column?: number | undefined;
  message: string;
}

/** Where the fault is marked; undefined if the code has no such line. */
export function diagnosticOf(state: EditorState, { line: number, column, message }: CodeFault): Diagnostic | undefined {
  if (number < 1 || number > state.doc.lines) return undefined;
  const line = state.doc.line(number);
  const at = column === undefined ? line.from : line.from + column - 1;
  const isInLine = column !== undefined && at < line.to;
  return { from: isInLine ? at : line.from, to: isInLine ? at + 1 : line.to, severity: 'error', message };
}

const mostMs = 50;

/** The first place at which the parser of the editor finds a mistake. Later ones often follow from it. */
export function syntaxFaults(state: EditorState): Diagnostic[] {
  const found: Diagnostic[] = [];
  ensureSyntaxTree(state, state.doc.length, mostMs)?.iterate({
    enter({ type, from, to }) {
      if (found.length > 0) return false;
      if (!type.isError) return true;
      // What is missing has no length, so the last character before it is marked.
      const end = from === to ? state.sliceDoc(0, to).trimEnd().length : to;
      const start = from === to ? Math.max(0, end - 1) : from;
      found.push({ from: start, to: end, severity: 'error', message: 'This is not valid JavaScript.' });
      return false;
    },
  });
  return found;
}
