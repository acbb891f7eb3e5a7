import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

/** Disables the modules that Vite would add inline, because the policy of the page allows no inline code. */
export default defineConfig({
  build: {
    outDir: '../../services/management-api/dist/console',
    emptyOutDir: true,
    // A test reads from it which files each screen loads.
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2024',
    // Suppresses warnings about React's directives for servers, which have no meaning in a page.
    rolldownOptions: {
      onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
      output: {
        codeSplitting: {
          groups: [{ name: 'editor', test: /node_modules.(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-)/ }],
        },
      },
    },
    chunkSizeWarningLimit: 600,
  },
  plugins: [themeBeforePaint()],
  oxc: { jsx: { runtime: 'automatic' } },
  css: { modules: { localsConvention: 'camelCaseOnly' } },
});

/** Adds a script that runs before the first paint. Vite itself bundles only modules, which run after it. */
function themeBeforePaint(): Plugin {
  const source = readFileSync(new URL('../../services/management-api/public/theme.js', import.meta.url), 'utf8');
  return {
    name: 'theme-before-paint',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'asset', name: 'theme.js', source });
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const file = Object.keys(bundle).find(
          (name) => /theme-[^/]*\.js$/.test(name) && bundle[name]?.type === 'asset',
        );
        if (file === undefined || !html.includes('<!-- theme.js -->')) throw new Error('The page has no theme.js');
        return html.replace('<!-- theme.js -->', `<script src="/${file}"></script>`);
      },
    },
  };
}
