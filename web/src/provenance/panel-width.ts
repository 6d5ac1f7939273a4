import { Stored, useStored } from '../state/stored.ts'

export const MIN_WIDTH = 320
export const DEFAULT_WIDTH = 400
export const GREATEST_WIDTH = 900

const stored = new Stored('panel-width', (value) =>
  typeof value === 'number' ? clampWidth(value) : DEFAULT_WIDTH,
)

/** Returns the stored width of the panel in CSS pixels, and its setter. */
export function usePanelWidth(): readonly [width: number, set: (width: number) => void] {
  const [width, set] = useStored(stored)
  return [width, (wanted) => set(clampWidth(wanted))]
}

function clampWidth(wanted: number): number {
  return Math.round(Math.min(GREATEST_WIDTH, Math.max(MIN_WIDTH, wanted)))
}
