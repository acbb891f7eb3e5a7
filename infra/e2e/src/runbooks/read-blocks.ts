export interface Block {
  /** Of its first line in the document. */
  line: number;
  script: string;
  /** Lines that it must print, in this order; `…` is anything. */
  expected: string[];
}

/** The blocks of a Markdown document that are marked `sh`, in order. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: string[] | undefined;
  let isShell = false;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) open?.push(line);
    else if (open === undefined) {
      open = [];
      isShell = line === '```sh';
    } else {
      if (isShell) blocks.push({ line: index - open.length + 1, script: open.join('\n'), expected: outputsIn(open) });
      open = undefined;
    }
  }
  return blocks;
}

/** A comment right under a command is what it prints; one at the beginning, or after an empty line, is a remark. */
function outputsIn(lines: string[]): string[] {
  let isUnderCommand = false;
  const outputs: string[] = [];
  for (const line of lines) {
    if (line.startsWith('# ')) {
      if (isUnderCommand) outputs.push(line.slice(2));
    } else isUnderCommand = line !== '';
  }
  return outputs;
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** The expected lines that were not printed, or not after the one before. */
export function missingIn(output: string, expected: string[]): string[] {
  const lines = output.split('\n').map((line) => line.trimEnd());
  let from = 0;
  return expected.filter((line) => {
    const pattern = new RegExp(`^${line.split('…').map(escaped).join('.*')}$`, 'i');
    const found = lines.findIndex((printed, index) => index >= from && pattern.test(printed));
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}
