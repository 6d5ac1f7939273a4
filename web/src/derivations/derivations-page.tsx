import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useSearchParams } from 'wouter'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { derivationsQuery, statusQuery } from '../api/queries.ts'
import { Notice } from '../ui/notice.tsx'
import { DerivationGraph } from './derivation-graph.tsx'
import { DerivationPanel } from './derivation-panel.tsx'
import './derivations-page.css'
import { NoDerivations } from './no-derivations.tsx'

const NONE = {}

/** The page with the graph of derivations and the panel of the selected one. */
export default function DerivationsPage({ contract }: { readonly contract: SheetContract }) {
  const { data, error } = useQuery(derivationsQuery)
  const { data: status } = useQuery(statusQuery)
  const [params, setParams] = useSearchParams()
  const page = useRef<HTMLDivElement>(null)
  const select = (file: string | null): void => {
    setParams((now) => {
      const next = new URLSearchParams(now)
      if (file === null) next.delete('file')
      else next.set('file', file)
      return next
    })
  }
  const close = (): void => {
    // Returns the focus to the node that opened the panel, before the panel is removed with the focus.
    page.current?.querySelector<HTMLElement>('.graph-node[aria-current]')?.focus()
    select(null)
  }

  if (error !== null) {
    return (
      <Notice kind="error" title="Cannot read the derivations">
        {messageOf(error)}
      </Notice>
    )
  }
  if (data === undefined) return <div className="derivations-page" aria-busy="true" />
  const { derivations } = data
  if (derivations.length === 0) return <NoDerivations contract={contract} />
  const selected = derivations.find(({ file }) => file === params.get('file')) ?? null
  return (
    <div className="derivations-page" ref={page}>
      <h1 className="visually-hidden">Derivations</h1>
      <DerivationGraph
        contract={contract}
        derivations={derivations}
        status={status ?? NONE}
        selected={selected?.file ?? null}
        onSelect={select}
      />
      {selected !== null && <DerivationPanel derivation={selected} status={status ?? NONE} onClose={close} />}
    </div>
  )
}
