import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { permissionsQuery } from '../api/queries.ts'
import { useActor } from '../state/actor.ts'
import { useAsOf } from '../state/as-of.ts'
import { whenSaved } from '../ui/unsaved.tsx'
import type { FieldPlace } from './contract-with.ts'
import type { Ghost } from './ghost.ts'

/** The task for which the drawer of columns is open. */
export type DrawerState =
  | {
      readonly do: 'add'
      readonly place: FieldPlace
      /** Another number for each new column, which begins with an empty form. */
      readonly key: number
    }
  | { readonly do: 'edit'; readonly field: string }

/** The drawer that adds and edits columns. */
export interface ColumnDrawerControl {
  /** Whether the service lets this actor change the definition. */
  readonly mayChange: boolean
  /** Null while it is closed. */
  readonly state: DrawerState | null
  /** The columns that it would add, as the grid shows them. */
  readonly ghost: Ghost | null
  /** Begins a column, once the person agrees to lose what the drawer has. */
  add(place: FieldPlace): void
  /** Edits a field, likewise. */
  edit(field: string): void
  close(): void
  setGhost(ghost: Ghost): void
}

/** The state of the drawer of columns, memoized. */
export function useDrawer(contract: SheetContract): ColumnDrawerControl {
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const isPast = useAsOf() !== null
  const [state, setState] = useState<DrawerState | null>(null)
  const [ghost, setGhost] = useState<Ghost | null>(null)
  const [params, setParams] = useSearchParams()
  const asked = params.get('edit')
  const mayChange = permissions !== undefined && permissions.read_only_definition !== true && !isPast
  // A link of another page asks for it once: the field can have another name later.
  const editAsked = useEffectEvent((field: string) => {
    if (contract.fieldByName.has(field)) whenSaved(() => setState({ do: 'edit', field }))
    setParams((now) => new URLSearchParams([...now].filter(([key]) => key !== 'edit')), { replace: true })
  })
  useEffect(() => {
    if (mayChange && asked !== null) editAsked(asked)
  }, [mayChange, asked])
  return useMemo(
    () => ({
      mayChange,
      state: mayChange ? state : null,
      ghost: mayChange && state?.do === 'add' ? ghost : null,
      add: (place) =>
        whenSaved(() => {
          setGhost(null)
          setState((now) => ({ do: 'add', place, key: now?.do === 'add' ? now.key + 1 : 0 }))
        }),
      edit: (field) => whenSaved(() => setState({ do: 'edit', field })),
      close: () => setState(null),
      setGhost,
    }),
    [mayChange, state, ghost],
  )
}
