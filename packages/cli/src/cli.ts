import { parseArgs } from 'node:util';
import { type Command, commonOptions, type Input } from './command.ts';
import { commands } from './commands.ts';
import { exitCodes, explain, UsageError } from './failure.ts';
import { commandHelp, groupHelp, overview } from './help.ts';
import { tell, write } from './output/print.ts';
import { completions } from './own/completion.ts';
import type { Terminal } from './terminal.ts';
import { readVersion } from './version.ts';

export async function run(typed: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return (await dispatch(typed, terminal)) ?? exitCodes.done;
  } catch (error) {
    const { message, code } = explain(terminal.signal.aborted ? terminal.signal.reason : error);
    if (message !== undefined) tell(terminal, message);
    return code;
  }
}

async function dispatch(typed: readonly string[], terminal: Terminal): Promise<number | undefined> {
  const [first] = typed;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    await write(terminal.stdout, `${overview(commands)}\n`);
    return first === undefined ? exitCodes.usage : exitCodes.done;
  }
  if (first === '--version') return printVersion(terminal);
  if (first === 'complete' && typed[1] === '--') {
    await write(
      terminal.stdout,
      completions(commands, typed.slice(2))
        .map((word) => `${word}\n`)
        .join(''),
    );
    return exitCodes.done;
  }
  const command = commands
    .filter(({ words }) => words.every((word, index) => typed[index] === word))
    .sort((a, b) => b.words.length - a.words.length)[0];
  if (!command) return helpWithGroup(typed, terminal);
  const rest = typed.slice(command.words.length);
  const { own } = divide(command, rest);
  if (own.includes('--help') || own.includes('-h')) {
    await write(terminal.stdout, `${commandHelp(command)}\n`);
    return exitCodes.done;
  }
  return command.run(parse(command, rest), terminal);
}

async function helpWithGroup(typed: readonly string[], { stdout }: Terminal): Promise<number> {
  if (typed[0]?.startsWith('-'))
    throw new UsageError('Options come after the command. "sluice --help" lists the commands.');
  const group = commands.filter(({ words }) => words.length > 1 && words[0] === typed[0]);
  if (group.length === 0)
    throw new UsageError(`There is no command${named(typed[0])}. "sluice --help" lists the commands.`);
  const [, verb] = typed;
  if (verb !== undefined && !verb.startsWith('-')) {
    const verbs = group.map(({ words }) => words.slice(1).join(' ')).join(', ');
    throw new UsageError(`There is no command ${typed[0]}${named(verb)}. There are: ${verbs}`);
  }
  await write(stdout, `${groupHelp(group)}\n`);
  return verb === undefined ? exitCodes.usage : exitCodes.done;
}

/** Repeats only plain words, because anything else may be a key or value typed by mistake. */
function named(word = ''): string {
  return /^[a-z]+(-[a-z]+)*$/.test(word) && word.length <= 30 ? ` ${word}` : '';
}

/** Separates our words from what stands behind `--`, where the command takes something there. */
function divide({ behindDashes }: Command, typed: string[]): { own: string[]; behind: string[] } {
  const at = behindDashes === undefined ? -1 : typed.indexOf('--');
  return at === -1 ? { own: typed, behind: [] } : { own: typed.slice(0, at), behind: typed.slice(at + 1) };
}

function parse(command: Command, typed: string[]): Input {
  const { words, arguments: names, options, behindDashes } = command;
  const help = `See "sluice ${words.join(' ')} --help".`;
  const { own, behind } = divide(command, typed);
  if (behindDashes !== undefined && behind.length === 0)
    throw new UsageError(`The command line must end with -- ${behindDashes}. ${help}`);
  const { positionals, values } = parseTyped({ ...options, ...commonOptions }, own, help);
  const required = names.filter((name) => !name.startsWith('['));
  const missing = required[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing. ${help}`);
  if (positionals.length > names.length)
    throw new UsageError(`There are too many arguments; the command takes ${names.join(' ') || 'none'}. ${help}`);
  return { positionals, values, behindDashes: behind };
}

function parseTyped(options: Command['options'], args: string[], help: string): Input {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    // The parser's message quotes the line, which may hold a key, so only the option's name is taken from it.
    const name =
      error instanceof Error ? /'(-{1,2}[A-Za-z][A-Za-z-]{0,30})(?:[ ,'<]|$)/.exec(error.message)?.[1] : undefined;
    throw new UsageError(
      `${name ? `The option ${name} is wrong: it is unknown, or its value is missing, or it has a value but takes none.` : 'An option is wrong.'} ${help}`,
    );
  }
}

async function printVersion({ stdout }: Terminal): Promise<number> {
  await write(stdout, `${await readVersion()}\n`);
  return exitCodes.done;
}
