import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { derivationsQuery, permissionsQuery, statusQuery } from '../api/queries.ts'
import { useActor } from '../state/actor.ts'
import { Notice } from '../ui/notice.tsx'
import { DerivationGraph } from './derivation-graph.tsx'
import { DerivationPanel } from './derivation-panel.tsx'
import './derivations-page.css'
import { NewDerivation } from './new-derivation.tsx'
import { NoDerivations } from './no-derivations.tsx'

// The editor is loaded when it is first needed.
const DerivationEditor = lazy(() => import('./editor/derivation-editor.tsx'))

const NONE = {}

/** The page with the graph of derivations and the panel of the selected one. */
export default function DerivationsPage({ contract }: { readonly contract: SheetContract }) {
  const { data, error } = useQuery(derivationsQuery)
  const { data: status } = useQuery(statusQuery)
  const [params, setParams] = useSearchParams()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const page = useRef<HTMLDivElement>(null)
  /** The file whose editor was closed last, to which the focus returns. */
  const [left, setLeft] = useState<string | null>(null)
  const select = (file: string | null, isEdited = false): void => {
    setLeft(null)
    setParams((now) => {
      const next = new URLSearchParams(now)
      next.delete('file')
      next.delete('edit')
      if (file !== null) next.set('file', file)
      if (isEdited) next.set('edit', '1')
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
  const isReadOnly = permissions?.read_only_definition === true
  const file = params.get('file')
  const selected = derivations.find((each) => each.file === file) ?? null
  // Also of a file that was removed meanwhile: its draft remains.
  const edited = params.has('edit') && !isReadOnly ? file : null
  const closeEditor = (): void => {
    select(file)
    setLeft(file)
  }
  const start = isReadOnly ? null : (
    <NewDerivation
      contract={contract}
      files={derivations.map((each) => each.file)}
      edited={edited}
      onEdit={(begun) => select(begun, true)}
    />
  )
  return (
    <div className="derivations-page" ref={page}>
      <h1 className="visually-hidden">Derivations</h1>
      {derivations.length === 0 ? (
        <NoDerivations contract={contract}>{start}</NoDerivations>
      ) : (
        <DerivationGraph
          contract={contract}
          derivations={derivations}
          status={status ?? NONE}
          selected={selected?.file ?? null}
          mayEdit={!isReadOnly}
          onSelect={select}
        >
          {start}
        </DerivationGraph>
      )}
      {edited !== null ? (
        <Suspense fallback={<div className="derivation-panel" aria-busy="true" />}>
          <DerivationEditor
            key={edited}
            contract={contract}
            sheet={contract.name}
            file={edited}
            onClose={closeEditor}
          />
        </Suspense>
      ) : (
        selected !== null && (
          <DerivationPanel
            key={selected.file}
            sheet={contract.name}
            derivation={selected}
            status={status ?? NONE}
            isReadOnly={isReadOnly}
            takesFocus={selected.file === left}
            onEdit={() => select(selected.file, true)}
            onClose={close}
          />
        )
      )}
    </div>
  )
}
