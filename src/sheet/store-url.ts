/** The variable of the environment that names a store where the command line does not. */
export const STORE_VARIABLE = 'COLOPHON_STORE'

/** Whether a sheet is named by the URL of its store, and not by its directory. */
export function isStoreUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place)
}
