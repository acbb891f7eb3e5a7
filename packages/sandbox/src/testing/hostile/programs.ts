import { againstBuiltIns } from './against-built-ins.ts';
import { againstMemory } from './against-memory.ts';
import { againstTheBoundary } from './against-the-boundary.ts';
import { againstTime } from './against-time.ts';

/**
 * Programs that must be answered with an error in time, by what they do: statements of an async function that gets
 * `req`, with a client.
 */
export const hostilePrograms: Readonly<Record<string, string>> = {
  ...againstTime,
  ...againstMemory,
  ...againstBuiltIns,
  ...againstTheBoundary,
};

/** The module whose function has these statements. */
export const hostileModule = (statements: string) => `module.exports = async (req) => { ${statements} }`;
