import { againstBuiltIns } from './against-built-ins.ts';
import { againstFetch } from './against-fetch.ts';
import { againstMemory } from './against-memory.ts';
import { againstTheBoundary } from './against-the-boundary.ts';
import { againstTime } from './against-time.ts';

/** Statements of an async function that gets `req`, with a client. Each must end in time with an error. */
export const hostilePrograms: Readonly<Record<string, string>> = {
  ...againstTime,
  ...againstMemory,
  ...againstBuiltIns,
  ...againstTheBoundary,
};

/** They run as the code of reactors; the others as transforms. */
export const hostileReactors = againstFetch;

export const hostileModule = (statements: string) => `module.exports = async (req) => { ${statements} }`;
