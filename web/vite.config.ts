import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The page's policy allows no data: scripts, and small files cost nothing on the same machine.
    assetsInlineLimit: 0,
    // A part's own stylesheet is asked for once only: when it cannot be had, the part stays without it.
    cssCodeSplit: false,
    target: 'es2023',
    chunkSizeWarningLimit: 1000,
  },
  // Host stays that of the page, as the service's origin check wants it.
  server: { proxy: { '^/(?:api|events)': { target: 'http://127.0.0.1:3000', changeOrigin: false } } },
})
