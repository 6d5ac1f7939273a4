/** The path of the contract in the sheet. */
export const CONTRACT = 'contract.yaml'

/** Returns whether a path is that of a file which the page can repair. */
export function mayRepair(path: string): boolean {
  return path === CONTRACT || /^derivations\/[^/]+\.yaml$/.test(path)
}
