/** The dialog that is open over the grid. */
export type GridDialog = 'new' | 'delete' | 'goTo' | null
