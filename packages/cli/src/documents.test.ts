import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { commonOptions } from './command.ts';
import { commands } from './commands.ts';

const repository = new URL('../../../', import.meta.url);

async function commandsIn(document: string): Promise<string[]> {
  const text = await readFile(new URL(document, repository), 'utf8');
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...text.split('\n'), ...spans]
    .flatMap((line) => line.split(/&&|\|\|/))
    .map((line) => line.replace(/[<>#].*/, '').trim())
    .filter((line) => /^(npx )?sluice [a-z-]/.test(line) && !line.endsWith('--help'));
}

/** As a shell splits them, without the notation `[--option NAME]` and `A|B`. */
function wordsOf(line: string): string[] {
  const words = line.replace(/[[\]]/g, '').match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", '')).slice(words[0] === 'npx' ? 2 : 1);
}

test.each(['llms.txt', 'README.md', 'packages/cli/README.md'])(
  'every command that %s shows can be typed',
  async (document) => {
    const lines = await commandsIn(document);
    if (document !== 'README.md') expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const words = wordsOf(line);
      const command = commands
        .filter((one) => one.words.every((word, index) => words[index] === word))
        .sort((a, b) => b.words.length - a.words.length)[0];
      expect([line, command?.words]).toEqual([line, expect.anything()]);
      if (!command) continue;
      const all = words.slice(command.words.length);
      const args = command.behindDashes === undefined ? all : all.slice(0, all.indexOf('--'));
      const parse = () =>
        parseArgs({ args, options: { ...command.options, ...commonOptions }, allowPositionals: true });
      expect([line, parse().positionals.length <= command.arguments.length]).toEqual([line, true]);
    }
  },
);
