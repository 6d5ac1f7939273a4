import { styleText } from 'node:util'

/** The styles of the command line; fewer than Node has, so that it looks the same everywhere. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Where text for people is drawn. */
export interface Screen {
  /** Characters to a line; infinite where lines are not cut. */
  readonly columns: number
  /** The text in a style; as it is where there are no colours. */
  paint(style: Style, text: string): string
}

/** A stream for people or programs, such as standard output. */
export interface OutputStream extends NodeJS.WritableStream {
  /** There when it is a terminal. */
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Whether a stream of this process is a terminal; of any other stream Node leaves the member out. */
export function isTerminal({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY ?? false
}

/** How wide lines are where the terminal does not say. */
const USUAL_COLUMNS = 80

/** The screen that a stream of this process is. Honours NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR. */
export function screenOf(stream: OutputStream): Screen {
  return {
    columns: columnsOf(stream),
    // Asks the environment and the stream each time, both of which may change.
    paint: (style, text) => styleText(style, text, { stream }),
  }
}

/** A screen of this width without colours, and with `colour: true` one that has them whatever the environment says. */
export function plainScreen(columns = Infinity, { colour = false } = {}): Screen {
  return {
    columns,
    paint: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  }
}

/** Lines are cut at terminals only: in a file or a pipe nothing may be missing. */
function columnsOf(stream: OutputStream): number {
  const { columns } = stream
  if (!isTerminal(stream)) return Infinity
  return columns === undefined || columns <= 0 ? USUAL_COLUMNS : columns
}
