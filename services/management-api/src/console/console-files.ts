import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { pageHeaders, type StaticFile, type StaticFileType } from '@sluice/http-api';

/** Output folder of `npm run build:console`. */
const builtFolder = new URL('../../dist/console/', import.meta.url);

export interface ConsoleFiles {
  /** Served at every path of the console. Its script reads the path. */
  page: StaticFile;
  assets: StaticFile[];
}

/** Paths below it change with their content, so browsers may cache them for ever. */
export const assetsPath = '/assets/';

/**
 * Only our scripts, our styles and requests to us, and nothing inline. React and Base UI set styles through the CSSOM,
 * which a policy does not count as inline.
 */
const headers = pageHeaders({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
});

export interface ConsoleSettings {
  headerPrefix: string;
  /** Where clients call the API, for examples. */
  baseUrl?: string | undefined;
}

/** @returns undefined if the console was not built. @throws {Error} for a file of an unknown type. */
export function readConsole(settings: ConsoleSettings, folder = builtFolder): ConsoleFiles | undefined {
  const index = new URL('index.html', folder);
  if (!existsSync(index)) return undefined;
  const html = readFileSync(index, 'utf8').replace('data-header-prefix="SVC"', () => attributesOf(settings));
  const assets = new URL('assets/', folder);
  return {
    page: { path: '/', type: 'html', body: Buffer.from(html), caching: 'no-store', headers },
    assets: readdirSync(assets).map((name) => ({
      path: assetsPath + name,
      type: typeOf(name),
      body: readFileSync(new URL(name, assets)),
      caching: 'immutable',
      headers: { 'Cross-Origin-Resource-Policy': 'same-origin' },
    })),
  };
}

function attributesOf({ headerPrefix, baseUrl }: ConsoleSettings): string {
  const url = baseUrl && new URL(baseUrl).origin.replaceAll('"', '&quot;');
  return `data-header-prefix="${headerPrefix}"${url ? ` data-base-url="${url}"` : ''}`;
}

function typeOf(name: string): StaticFileType {
  const type = /\.(js|css|svg|png|woff2)$/.exec(name)?.[1];
  if (!type) throw new Error(`The console has a file of an unknown type: ${name}`);
  return type as StaticFileType;
}
