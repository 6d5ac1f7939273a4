import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { RunListAnswer, RunSummary } from '../../../../src/wire/runs/runs.ts'
import { runsQuery } from '../../api/queries.ts'
import { refetch } from '../../live/refetch.ts'
import { showError, showSuccess, showWarning } from '../../ui/toasts.tsx'
import { applyRunCells } from './apply-run-cells.ts'
import { isImportedHere } from './imports-here.ts'
import { isShownInDialog } from './reverts-in-dialog.ts'
import { endText } from '../display/run-text.ts'
import { useRunningRun } from './running-cells.ts'
import { runningStore } from './running-store.ts'
import { watchRun } from './watch-run.ts'

const POLL_MS = 2000
/** The minimum interval of refetching data that a run changes without listing it. */
const REREAD_MS = 2000

/** Keeps the page up to date with all runs; mounted once. */
export function useRunWatch(): { readonly list: RunListAnswer | undefined; readonly isLost: boolean } {
  const client = useQueryClient()
  const { run } = useRunningRun()
  const isRunning = run !== null
  const { data, error } = useQuery({ ...runsQuery(), refetchInterval: isRunning ? POLL_MS : false })
  useEffect(() => {
    if (data === undefined) return
    for (const ended of runningStore.readList(data.runs, performance.now())) announceEnd(client, ended)
  }, [client, data])
  const id = run?.id ?? null
  useEffect(() => (id === null ? undefined : follow(client, id)), [client, id])
  return { list: data, isLost: error !== null }
}

function follow(client: QueryClient, id: string): () => void {
  const reread = rereadLater(client)
  let materialized = 0
  let listed = false
  const stop = watchRun(
    id,
    ({ kind, data }) => {
      switch (kind) {
        case 'run.cells':
          listed = true
          runningStore.cells(id, data.cells, performance.now())
          if (!applyRunCells(client, data)) reread.ask()
          break
        case 'run.progress':
          // Runs of other processes, and reverts, do not list their cells.
          if (data.materialized > materialized && !listed) reread.ask()
          materialized = data.materialized
          listed = false
          runningStore.progress(data, performance.now())
          break
        case 'run.end':
          if (runningStore.end(data.id)) announceEnd(client, data)
          break
      }
    },
    reread.ask,
  )
  return () => {
    stop()
    reread.stop()
  }
}

/** Refetches data that runs change, after a delay. */
function rereadLater(client: QueryClient): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null
  const read = (): void => {
    timer = null
    refetch(client, { queryKey: ['records'], predicate: ({ queryKey }) => CHANGED.has(queryKey[1]) })
  }
  return {
    ask: () => {
      timer ??= setTimeout(read, REREAD_MS)
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** Not summaries, which scan all records: they are refetched at the end. */
const CHANGED: ReadonlySet<unknown> = new Set(['page', 'one', 'cells', 'status', 'history', 'why'])

function announceEnd(client: QueryClient, run: RunSummary): void {
  for (const first of ['records', 'runs', 'plan']) refetch(client, { queryKey: [first] })
  if (isShownInDialog(run) || (run.kind === 'import' && isImportedHere(run.file))) return
  const link = { href: `/runs/${run.id}`, name: 'Show' }
  const isBad =
    run.state === 'failed' || run.state === 'interrupted' || (run.failed > 0 && run.materialized === 0)
  if (isBad) showError(new Error(endText(run)), link)
  else if (run.failed > 0) showWarning(endText(run), { ...link, name: 'Show failures' })
  else showSuccess(endText(run), link)
}
