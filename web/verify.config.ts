import { defineConfig } from 'vite'
import { viteSingleFile } from 'vite-plugin-singlefile'

/** Builds the page that verifies proofs: one file, which works without a server. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [viteSingleFile()],
  build: {
    outDir: 'dist',
    // The viewer is built first.
    emptyOutDir: false,
    target: 'es2023',
    rollupOptions: { input: 'verify.html' },
  },
})
