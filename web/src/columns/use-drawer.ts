import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { permissionsQuery } from '../api/queries.ts'
import { useActor } from '../state/actor.ts'
import type { FieldPlace } from './contract-with.ts'
import type { DrawerState } from './drawer-state.ts'
import type { Ghost } from './ghost.ts'

/** The drawer that adds and edits columns. */
export interface ColumnDrawerControl {
  /** Whether the service lets this actor change the definition. */
  readonly mayChange: boolean
  /** Null while it is closed. */
  readonly state: DrawerState | null
  /** The columns that it would add, as the grid shows them. */
  readonly ghost: Ghost | null
  add(place: FieldPlace): void
  edit(field: string): void
  close(): void
  setGhost(ghost: Ghost): void
}

/** The state of the drawer of columns, memoized. */
export function useDrawer(): ColumnDrawerControl {
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const [state, setState] = useState<DrawerState | null>(null)
  const [ghost, setGhost] = useState<Ghost | null>(null)
  const mayChange = permissions !== undefined && permissions.read_only_definition !== true
  return useMemo(
    () => ({
      mayChange,
      state: mayChange ? state : null,
      ghost: mayChange && state?.do === 'add' ? ghost : null,
      add: (place) => {
        setGhost(null)
        setState((now) => ({ do: 'add', place, key: now?.do === 'add' ? now.key + 1 : 0 }))
      },
      edit: (field) => setState({ do: 'edit', field }),
      close: () => setState(null),
      setGhost,
    }),
    [mayChange, state, ghost],
  )
}
