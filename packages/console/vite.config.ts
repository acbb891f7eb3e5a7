import { defineConfig } from 'vite';

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
  oxc: { jsx: { runtime: 'automatic' } },
  css: { modules: { localsConvention: 'camelCaseOnly' } },
});
