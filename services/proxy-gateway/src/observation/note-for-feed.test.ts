import { toLine } from '@sluice/invocation-feed';
import type { ConsoleLine } from '@sluice/sandbox';
import { notePrinted, noteTokenIds } from './note-for-feed.ts';

const line = (text: string): ConsoleLine => ({ level: 'info', text });

/** What is noted of what two transforms of an invocation print. */
function noted(...prints: ConsoleLine[][]): string[] {
  const invocation: Parameters<typeof notePrinted>[0] = { printed: undefined };
  for (const lines of prints) notePrinted(invocation, lines);
  return (invocation.printed ?? []).map(({ text }) => text);
}

describe('what transforms printed is noted', () => {
  test('with at most 2,000 bytes', () => {
    expect(noted([line('a'.repeat(1500))], [line('b'.repeat(1500)), line('c')])).toEqual([
      'a'.repeat(1500),
      'b'.repeat(500),
    ]);
  });

  test('and at most 20 lines, because each costs more than its text', () => {
    const many = Array.from({ length: 2000 }, () => line('a'));
    expect(noted(many, many)).toHaveLength(20);
    expect(noted(Array.from({ length: 2000 }, () => line('')))).toHaveLength(20);
  });

  test('an empty line hides none behind it', () => {
    expect(noted([line('a'), line(''), line('b')])).toEqual(['a', '', 'b']);
  });
});

test.each([
  ['control characters', '\u0001'],
  ['NUL', '\0'],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['line breaks', '\n'],
  ['letters of three bytes', '字'],
  ['pairs of surrogates', '😀'],
  ['halves of pairs', '\ud83d'],
  ['control characters after letters', `${'a'.repeat(1900)}${'\u0001'.repeat(1000)}`],
  ['letters after control characters', `${'\u0001'.repeat(300)}${'a'.repeat(5000)}`],
])('a record of %s has less than 5 KiB, and is one line', (_, hostile) => {
  for (const isRun of [false, true]) expectSmall(hostile, isRun);
});

function expectSmall(hostile: string, isRun: boolean): void {
  const invocation: Parameters<typeof notePrinted>[0] & Parameters<typeof noteTokenIds>[0] = {
    printed: undefined,
    tokenIds: undefined,
  };
  for (let call = 0; call < 3; call++) {
    noteTokenIds(
      invocation,
      Array.from({ length: 30 }, () => hostile.repeat(100).slice(0, 100)),
    );
    notePrinted(
      invocation,
      Array.from({ length: 30 }, () => line(hostile.repeat(1000))),
    );
  }
  const [id, other] = ['8a0c1f4e-2b6d-4e7f-9a3b-5c1d0e9f8a76', 'x'.repeat(100)];
  const record = toLine({
    ...{ traceId: other, beganAt: Date.now(), ownerId: id, isRun, applicationId: id, method: 'DELETE', status: 200 },
    ...{ destinationStatus: 200, refusedBy: 'destination_answer_unusable', totalMs: 1e6 },
    stages: { authenticate: 1e6, detokenize: 1e6, transform: 1e6, destination: 1e6 },
    ...invocation,
  });
  expect(Buffer.byteLength(record)).toBeLessThan(5 * 1024);
  expect(record).not.toContain('\n');
  expect(invocation.tokenIds?.length).toBeGreaterThan(0);
  expect(invocation.printed?.[0]?.text.length).toBeGreaterThan(300);
}
