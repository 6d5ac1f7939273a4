import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { contractQuery } from '../api/queries.ts'
import { GridPage } from '../grid/grid-page.tsx'
import { useLive } from '../live/use-live.ts'
import { Notice } from '../ui/notice.tsx'
import { Toasts } from '../ui/toasts.tsx'
import './app.css'
import { BrokenContract } from './broken-contract.tsx'
import { CommandMenu } from './command-menu.tsx'
import { Header } from './header.tsx'

// Each is fetched when it is first looked at.
const SqlPage = lazy(() => import('../sql/sql-page.tsx'))
const RunsPage = lazy(() => import('../runs/runs-page.tsx'))
const DerivationsPage = lazy(() => import('../derivations/derivations-page.tsx'))
const ContractPage = lazy(() => import('../contract/contract-page.tsx'))

/** The whole page. */
export function App() {
  useLive()
  const { data: contract, error } = useQuery(contractQuery)
  return (
    <div className="app">
      <Header contract={contract ?? null} />
      <main className="app-main">
        {error !== null ? (
          <BrokenContract error={error} />
        ) : contract === undefined ? (
          <div className="app-loading" aria-busy="true" />
        ) : (
          <Suspense fallback={<div className="app-loading" aria-busy="true" />}>
            <Switch>
              <Route path="/">
                <GridPage contract={contract} />
              </Route>
              <Route path="/sql">
                <SqlPage contract={contract} />
              </Route>
              <Route path="/runs/:id?">
                {({ id }) => <RunsPage contract={contract} runId={id ?? null} />}
              </Route>
              <Route path="/derivations">
                <DerivationsPage contract={contract} />
              </Route>
              <Route path="/contract">
                <ContractPage contract={contract} />
              </Route>
              <Route>
                <Notice title="There is no such page">The address may be misspelt.</Notice>
              </Route>
            </Switch>
          </Suspense>
        )}
      </main>
      <CommandMenu contract={contract ?? null} />
      <Toasts />
    </div>
  )
}
