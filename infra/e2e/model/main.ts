import { LaunchError } from '@sluice/local';
import { onStopRequest } from '@sluice/local/parts';
import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { checks } from './checks.ts';
import { runChecks } from './spin.ts';

const help = `Usage: npm run model [-- options] [CHECK]...

Checks a model of the protocol that keeps caches coherent: every order of steps of two holders, two writers, a network
that loses and delays, crashes and pauses. Shows a counter-example for each part that is taken away. Takes about two
minutes and half a gigabyte of memory; needs a C compiler, and spin, which it downloads on Debian and Ubuntu.

Options:
  --quick     the whole protocol with a coarser clock, in about half the time
  -h, --help  this text

Checks, all of them where none is named:
${checks.map(({ name, what, mustHold }) => `  ${name.padEnd(12)} ${what}${mustHold ? '' : '; must be violated'}`).join('\n')}`;

const { argv, env } = process;
using stop = onStopRequest({ byNpm: env.npm_lifecycle_event !== undefined });
const { signal } = stop;

try {
  process.exitCode = (await main(argv.slice(2))) ? 0 : 1;
} catch (error) {
  process.exitCode = signal.aborted ? 130 : error instanceof UsageError ? 2 : 1;
  if (signal.aborted) console.error('Stopped');
  else if (error instanceof UsageError) console.error(`${error.message}; see npm run model -- --help`);
  else if (error instanceof LaunchError) {
    console.error(`No check was run: ${error.message}.\nInstall both: sudo apt-get install gcc libc6-dev spin`);
  } else console.error(error);
}

/** @returns whether all checks came out as they must. */
async function main(args: string[]): Promise<boolean> {
  const { values, positionals } = readOptions({
    args,
    options: { help: { type: 'boolean', short: 'h' }, quick: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(help);
    return true;
  }
  const unknown = positionals.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) throw new UsageError(`There is no check ${unknown.join(', ')}`);
  const chosen = checks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const options = { isQuick: values.quick ?? false, path: env.PATH ?? '', signal, log: console.log };
  const surprises = await runChecks(chosen, options);
  console.log(surprises.length > 0 ? `\nNOT AS EXPECTED: ${surprises.join(', ')}` : '\nAll came out as they must');
  return surprises.length === 0;
}
