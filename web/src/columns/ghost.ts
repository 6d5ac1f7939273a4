import type { FieldType } from '../api/contract.ts'

/** A value of a preview in the grid. */
export interface GhostCell {
  /** Undefined while it is not known. */
  readonly value: unknown
  /** Whether it could not be computed. */
  readonly isFailed: boolean
}

/** A column that does not exist yet. */
export interface GhostColumn {
  readonly name: string
  readonly title: string
  readonly type: FieldType
  /** Previewed values by record id. */
  readonly cells: ReadonlyMap<string, GhostCell>
}

/** New columns as the grid shows them while one configures them, side by side. */
export interface Ghost {
  /** The column beside which they will be; null for the end. */
  readonly place: { readonly beside: string; readonly side: 'before' | 'after' } | null
  readonly columns: readonly GhostColumn[]
}

/** The width of a column that does not exist yet, in CSS pixels. */
export const GHOST_WIDTH = 170
