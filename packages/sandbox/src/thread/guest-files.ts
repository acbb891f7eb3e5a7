import type { DisposableResult, QuickJSHandle } from 'quickjs-emscripten';
import type { QuickJs } from './quickjs.ts';

/** The Tenant's code can import none of the guest's own files, because they would give it the functions of the host. */
export function guestFileLoader({ runtime, context }: QuickJs, sources: ReadonlyMap<string, string>) {
  const refused = () => ({ error: new Error('import is not supported: use require') });
  runtime.setModuleLoader(
    (path) => sources.get(nameOf(path)) ?? refused(),
    (importer, specifier) => (importer.startsWith(folder) ? folder + specifier.replace('./', '') : refused()),
  );
  return (name: string): DisposableResult<QuickJSHandle, QuickJSHandle> => {
    // The Tenant's code may have influenced the name, and code that may import host files could import all of them.
    if (!sources.has(name)) throw refused().error;
    return context.evalCode(`export * from './${name}.js'`, `${folder}load ${name}`, { type: 'module' });
  };
}

const folder = 'guest/';
const nameOf = (path: string) => path.slice(folder.length).replace('.js', '');
