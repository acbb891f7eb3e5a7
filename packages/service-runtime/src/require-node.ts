import { relative } from 'node:path';

/** The version that images have, and that `npm ci` installs into node_modules. */
const least = 26;

/**
 * Ends the process under an older Node.js, naming what to run instead. A program calls this before it imports its other
 * modules, because their syntax is an error there.
 */
export function requireNode({ versions, argv }: Pick<NodeJS.Process, 'versions' | 'argv'>): void {
  if (Number.parseInt(versions.node, 10) >= least) return;
  const [, file = ''] = argv;
  console.error(
    `Sluice needs Node.js ${least} or later; this is ${versions.node}. Run npx node ${relative('', file)} (npm ci installs that Node.js into node_modules)`,
  );
  process.exit(1);
}
