import { againstBuiltIns } from './against-built-ins.ts';
import { againstMemory } from './against-memory.ts';
import { againstTheBoundary } from './against-the-boundary.ts';
import { againstTime } from './against-time.ts';

/**
 * Programs that must end in time with an error, by the name of what they do. Each consists of the statements of an async
 * function that gets `req`, with a client.
 */
export const hostilePrograms: Readonly<Record<string, string>> = {
  ...againstTime,
  ...againstMemory,
  ...againstBuiltIns,
  ...againstTheBoundary,
};

/** A module that exports a function with these statements. */
export const hostileModule = (statements: string) => `module.exports = async (req) => { ${statements} }`;
