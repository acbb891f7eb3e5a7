/**
 * Adds the functions of Node.js that transforms lack to a module, so that a call names the missing function; the engine
 * would only say `not a function`. They are not enumerable.
 * @template {object} T
 * @param {string} name Of the module
 * @param {T} module
 * @param {string[]} functions
 * @returns {T}
 */
export function withUnavailable(name, module, functions) {
  for (const member of functions) {
    const value = () => {
      throw Object.assign(new Error(`${name}.${member} is not available in transforms`), {
        code: 'ERR_METHOD_NOT_IMPLEMENTED',
      });
    };
    Object.defineProperty(module, member, { value, writable: true, configurable: true });
  }
  return module;
}
