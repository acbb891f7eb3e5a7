/** For programs that a test starts: where programs are, and sources that have been compiled, which halves a start. */
export function programEnvironment(): { PATH: string; NODE_COMPILE_CACHE?: string } {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
