// A file for each script, fetched when a page shows it.
import '@fontsource-variable/inter/wght.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/api-error.ts'
import { App } from './app/app.tsx'
import { followTheme } from './state/theme.ts'
import './ui/tokens.css'

const client = new QueryClient({
  defaultOptions: {
    // The server may be on this very machine: whether there is a network says nothing of it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // A refused request would be refused again; an unreachable server may be starting.
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < 3,
      refetchOnWindowFocus: false,
    },
  },
})

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
followTheme()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
