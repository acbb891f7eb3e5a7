import { javascript } from '@codemirror/lang-javascript';
import { EditorState } from '@codemirror/state';
import { diagnosticOf, syntaxFaults } from './code-faults.ts';

const stateOf = (doc: string) => EditorState.create({ doc, extensions: javascript() });
const markedIn = (doc: string) => syntaxFaults(stateOf(doc)).map(({ from, to }) => doc.slice(from, to));

test('code without a mistake has no mark', () => {
  expect(markedIn('module.exports = async (req) => ({ body: req.args?.body ?? [...[], 1n] });')).toEqual([]);
  expect(markedIn('')).toEqual([]);
});

test.each([
  ['const a = ;', '='],
  ['module.exports = async (req) => {\n  return 1;\n', ';'],
  ['const x = 1 1;', '1'],
])('%j is marked at the first mistake', (code, marked) => {
  expect(markedIn(code)).toEqual([marked]);
});

test('a fault of the service is marked at its column, at a whole line without one, and nowhere beyond the code', () => {
  const state = stateOf('abc\ndefgh');
  const mark = (line: number, column?: number) => {
    const found = diagnosticOf(state, { line, column, message: 'm' });
    return found && state.sliceDoc(found.from, found.to);
  };
  expect([mark(2, 3), mark(2), mark(2, 99), mark(1, 4), mark(3, 1), mark(0, 1)]).toEqual([
    ...['f', 'defgh', 'defgh', 'abc', undefined, undefined],
  ]);
});
