import type { FieldPlace } from './contract-with.ts'

/** The task for which the drawer of columns is open. */
export type DrawerState =
  | {
      readonly do: 'add'
      readonly place: FieldPlace
      /** Another number for each new column, which begins with an empty form. */
      readonly key: number
    }
  | { readonly do: 'edit'; readonly field: string }
