import type { ConsoleLine } from '@sluice/sandbox';
import { notePrinted } from './note-for-feed.ts';

const line = (text: string): ConsoleLine => ({ level: 'info', text });

/** What is noted of what two transforms of an invocation print. */
function noted(...prints: ConsoleLine[][]): string[] {
  const invocation: Parameters<typeof notePrinted>[0] = { printed: undefined };
  for (const lines of prints) notePrinted(invocation, lines);
  return (invocation.printed ?? []).map(({ text }) => text);
}

describe('what transforms printed is noted', () => {
  test('with at most 2,000 characters', () => {
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
