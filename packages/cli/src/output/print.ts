import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { RefusedError } from '../failure.ts';
import type { Terminal } from '../terminal.ts';
import { escapeText, toSafeJson } from './escape.ts';
import { toMembers, toTable } from './table.ts';

/** A terminal shows tables; a program receives JSON. */
export function isForPeople({ stdout }: Terminal, json: boolean): boolean {
  return stdout.isTTY === true && !json;
}

export async function printAnswer(terminal: Terminal, answer: unknown, json: boolean): Promise<void> {
  if (answer === undefined) return;
  if (!isForPeople(terminal, json)) return write(terminal.stdout, `${toSafeJson(answer, 2)}\n`);
  if (Array.isArray(answer)) return printRows(terminal, answer);
  const text = typeof answer === 'object' && answer !== null ? toMembers(answer) : escapeText(String(answer));
  return write(terminal.stdout, `${text}\n`);
}

/** @param isSearch whether page and cursor are members of the body, and not options. */
export async function printPage(terminal: Terminal, page: unknown, isSearch: boolean): Promise<void> {
  if (!isPage(page)) return printAnswer(terminal, page, false);
  await printRows(terminal, page.data);
  const { page_number: number, total_pages: pages, total_items: total, next } = page.pagination;
  if (typeof next === 'string' && pages === undefined) {
    tell(
      terminal,
      `There are more items. To see them, use ${isSearch ? `"start": ${JSON.stringify(next)} in --data` : `--start ${next}`}, or --all`,
    );
  } else if (Number(number) < Number(pages)) {
    const more = isSearch ? `"page": ${Number(number) + 1} in --data` : '--page';
    tell(
      terminal,
      `This is page ${number} of ${pages}. There are ${total} items in all. To see more, use ${more}, or --all`,
    );
  }
}

async function printRows(terminal: Terminal, rows: readonly unknown[]): Promise<void> {
  if (rows.length === 0) return tell(terminal, 'None.');
  await write(
    terminal.stdout,
    `${toTable(
      rows.map((row) => Object(row)),
      terminal.stdout.columns,
    )}\n`,
  );
}

function isPage(answer: unknown): answer is { data: unknown[]; pagination: Record<string, unknown> } {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'pagination' in answer &&
    'data' in answer &&
    Array.isArray(answer.data)
  );
}

/** On standard error, so that messages never mix with the output. */
export function tell({ stderr }: Terminal, line: string): void {
  stderr.write(`${escapeText(line)}\n`);
}

export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** Escapes the text for a terminal; programs receive it unchanged, because a signature may cover it. */
export function printText({ stdout }: Terminal, text: string): Promise<void> {
  if (stdout.isTTY !== true) return write(stdout, text);
  return write(stdout, escapeText(text.endsWith('\n') ? text : `${text}\n`));
}

/**
 * Escapes the text for a terminal; programs receive the bytes unchanged.
 * @throws {RefusedError} with `advice` if the response is incomplete, so that it is not mistaken for the whole.
 */
export async function printBytes(
  terminal: Terminal,
  body: AsyncIterable<Uint8Array> | null,
  advice = '',
): Promise<void> {
  try {
    await printChunks(terminal.stdout, body ?? []);
  } catch (error) {
    if (terminal.signal.aborted || !(error instanceof TypeError)) throw error; // a TypeError is a lost connection
    throw new RefusedError(`The response was interrupted: it is not complete${advice}`, { cause: error });
  }
}

async function printChunks(
  stdout: Terminal['stdout'],
  body: AsyncIterable<Uint8Array> | Iterable<never>,
): Promise<void> {
  const decoder = new TextDecoder();
  let last = '\n';
  for await (const chunk of body) {
    if (stdout.isTTY !== true) {
      await write(stdout, chunk);
      continue;
    }
    const text = escapeText(decoder.decode(chunk, { stream: true }));
    if (text !== '') last = text;
    await write(stdout, text);
  }
  if (!last.endsWith('\n')) await write(stdout, '\n');
}
