import { useQuery } from '@tanstack/react-query'
import { Activity, lazy, Suspense, useEffect, useState } from 'react'
import { Route, Router, Switch, useLocation, type AroundNavHandler } from 'wouter'
import { isUnreachable } from '../api/api-error.ts'
import { contractQuery } from '../api/queries.ts'
import { FoundRecords } from '../find/found-records.tsx'
import { GridPage } from '../grid/grid-page.tsx'
import { fetchDrawer } from '../grid/columns/open-drawer.tsx'
import { fetchGroups } from '../grid/open-groups.tsx'
import { useLive } from '../live/use-live.ts'
import { Notice } from '../ui/notice.tsx'
import { DELETED_PAGE } from '../ui/pages.ts'
import { Toasts } from '../ui/toasts.tsx'
import { UnsavedDialog, whenSaved } from '../ui/unsaved.tsx'
import './app.css'
import { BrokenContract } from './broken-contract.tsx'
import { BrokenDerivation } from './broken-derivation.tsx'
import { CommandMenu } from '../ui/command-menu.tsx'
import { fetchWhenIdle } from './fetch-when-idle.ts'
import { Header } from './header.tsx'
import { LostNotice } from './lost-notice.tsx'
import { PageBoundary } from './page-boundary.tsx'

const fetchSql = () => import('../sql/sql-page.tsx')
const fetchRuns = () => import('../runs/runs-page.tsx')
const fetchProposals = () => import('../proposals/proposals-page.tsx')
const fetchDerivations = () => import('../derivations/derivations-page.tsx')
const fetchDeleted = () => import('../deleted/deleted-page.tsx')
const fetchContract = () => import('../contract/contract-page.tsx')

// Loaded after the first view.
const SqlPage = lazy(fetchSql)
const RunsPage = lazy(fetchRuns)
const ProposalsPage = lazy(fetchProposals)
const DerivationsPage = lazy(fetchDerivations)
const DeletedPage = lazy(fetchDeleted)
const ContractPage = lazy(fetchContract)

/** The viewer. A page that has changes which are not saved is left when the person agrees. */
export function App() {
  return (
    <Router aroundNav={leaveSaved}>
      <Pages />
    </Router>
  )
}

const leaveSaved: AroundNavHandler = (navigate, to, options) => {
  const go = (): void => navigate(to, options)
  if (new URL(to, location.href).pathname === location.pathname) go()
  else whenSaved(go)
}

function Pages() {
  useLive()
  const [path] = useLocation()
  const { data: contract, error: failure, isPending } = useQuery(contractQuery)
  const [last, setLast] = useState<Error | null>(null)
  if (!isPending && failure !== last) setLast(failure)
  // Another attempt without data yet has no error until it ends.
  const error = isPending ? last : failure
  // Loaded content stays visible while the server is unreachable.
  const exists = contract !== undefined
  useEffect(() => {
    if (exists)
      fetchWhenIdle([
        fetchSql,
        fetchRuns,
        fetchProposals,
        fetchDerivations,
        fetchDeleted,
        fetchContract,
        fetchDrawer,
        fetchGroups,
      ])
  }, [exists])
  const fault = contract?.fault ?? null
  const [isRepairing, setRepairing] = useState(false)
  if (isRepairing && fault === null) setRepairing(false)
  const broken = error !== null && (!exists || !isUnreachable(error)) ? error : isRepairing ? fault : null
  return (
    <div className="app">
      <Header contract={contract ?? null} />
      {exists && <LostNotice />}
      <main className="app-main">
        {broken !== null && <BrokenContract error={broken} />}
        {broken === null && fault !== null && (
          <BrokenDerivation error={fault} onOpen={() => setRepairing(true)} />
        )}
        {contract === undefined ? (
          broken === null && <div className="app-loading" aria-busy="true" />
        ) : (
          // What was typed stays until the definition can be read again.
          <Activity mode={broken === null ? 'visible' : 'hidden'}>
            <PageBoundary key={path.split('/')[1]}>
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
                  <Route path="/proposals/:id?">
                    {({ id }) => <ProposalsPage contract={contract} proposalId={id ?? null} />}
                  </Route>
                  <Route path="/derivations">
                    <DerivationsPage contract={contract} />
                  </Route>
                  <Route path={DELETED_PAGE.path}>
                    <DeletedPage contract={contract} />
                  </Route>
                  <Route path="/contract">
                    <ContractPage contract={contract} />
                  </Route>
                  <Route>
                    <Notice title="Page not found">Check the address.</Notice>
                  </Route>
                </Switch>
              </Suspense>
            </PageBoundary>
          </Activity>
        )}
      </main>
      <CommandMenu contract={contract ?? null} records={FoundRecords} />
      <Toasts />
      <UnsavedDialog />
    </div>
  )
}
