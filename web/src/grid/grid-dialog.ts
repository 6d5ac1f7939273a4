/** The open dialog. */
export type GridDialog = 'new' | 'delete' | 'goTo' | null
