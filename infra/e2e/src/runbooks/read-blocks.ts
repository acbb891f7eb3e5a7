export interface Block {
  /** Of its first line in the document. */
  line: number;
  script: string;
  /** Lines that it must print, in this order; `…` is anything. */
  expected: string[];
}

/** How a remark begins in each language whose blocks are run. Blocks in others, as `console` and `yaml`, are not. */
const remarks: Readonly<Record<string, string>> = { sh: '# ', js: '// ', ts: '// ' };

/** Whether the line opens a block that is run. */
export const isRun = (line: string) => line.startsWith('```') && Object.hasOwn(remarks, line.slice(3));

/** The blocks of a Markdown document that are run, in order. Programs are run by Node, as modules. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: string[] | undefined;
  let language = '';
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) open?.push(line);
    else if (open === undefined) {
      open = [];
      language = isRun(line) ? line.slice(3) : '';
    } else {
      if (language) {
        const text = open.join('\n');
        const script =
          language === 'sh'
            ? text
            : `node --input-type=module-typescript - <<'END_OF_SNIPPET'\n${text}\nEND_OF_SNIPPET`;
        blocks.push({ line: index - open.length + 1, script, expected: outputsIn(open, remarks[language] ?? '') });
      }
      open = undefined;
    }
  }
  return blocks;
}

/** A comment right under a command is what it prints; one at the beginning, or after an empty line, is a remark. */
function outputsIn(lines: string[], remark: string): string[] {
  let isUnderCommand = false;
  const outputs: string[] = [];
  for (const line of lines) {
    if (line.startsWith(remark)) {
      if (isUnderCommand) outputs.push(line.slice(remark.length));
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
