import { columnWindow, type ColumnLayout } from './column-layout.ts'
import { rowWindow, type RowWindow } from './row-window.ts'
import {
  clampOffset,
  isScaled,
  offsetToShow,
  toOffset,
  toScrollTop,
  type ScrollShape,
} from './scroll-scale.ts'
import { pixelsOf, WheelGlide } from './wheel.ts'

/** As `--row` in ui/tokens.css. */
export const ROW_HEIGHT = 34

/** What the rows are drawn by. */
export interface ScrollView {
  readonly rows: RowWindow
  /** Of the columns that scroll. */
  readonly columns: { readonly first: number; readonly end: number }
  /** Of what is seen, with the heads. */
  readonly width: number
  readonly height: number
  readonly direction: 'up' | 'down'
  /** Rows that are in sight at once. */
  readonly pageRows: number
}

const NOTHING: ScrollView = {
  rows: { first: 0, end: 0, size: 0 },
  columns: { first: 0, end: 0 },
  width: 0,
  height: 0,
  direction: 'down',
  pageRows: 1,
}

/**
 * Knows how far the grid is scrolled, and which rows and columns are in sight. Its offset within all rows is the truth;
 * the browser's scroll bar follows it, and leads it only when somebody moves the thumb (see scroll-scale.ts).
 */
export class ScrollKeeper {
  readonly #listeners = new Set<() => void>()
  readonly #moveListeners = new Set<() => void>()
  readonly #glide = new WheelGlide((by) => this.scrollTo(this.#offset + by))
  #element: HTMLElement | null = null
  #shape: ScrollShape = { content: 0, viewport: 0 }
  #count = 0
  #layout: ColumnLayout | null = null
  #headHeight = 0
  #offset = 0
  #left = 0
  /** Where the scroll bar was put, so that its own events are known. */
  #expectedTop = 0
  #isTouched = false
  #view = NOTHING

  get offset(): number {
    return this.#offset
  }

  get left(): number {
    return this.#left
  }

  get view(): ScrollView {
    return this.#view
  }

  get element(): HTMLElement | null {
    return this.#element
  }

  /** Calls back whenever other rows or columns are to be drawn. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back on every move, before anything is drawn. */
  onMove(listener: () => void): () => void {
    this.#moveListeners.add(listener)
    return () => this.#moveListeners.delete(listener)
  }

  attach(element: HTMLElement): () => void {
    this.#element = element
    const stop = new AbortController()
    const { signal } = stop
    element.addEventListener('scroll', this.#onScroll, { passive: true, signal })
    element.addEventListener('wheel', this.#onWheel, { passive: false, signal })
    element.addEventListener('touchstart', this.#onTouch, { passive: true, signal })
    element.addEventListener('scrollend', this.#onScrollEnd, { passive: true, signal })
    const observer = new ResizeObserver(() => this.#measure())
    observer.observe(element)
    this.#measure()
    return () => {
      stop.abort()
      observer.disconnect()
      this.#glide.stop()
      this.#element = null
    }
  }

  /** Tells what there is to scroll. The offset stays, as far as there are rows. */
  set(count: number, layout: ColumnLayout, headHeight: number): void {
    this.#count = count
    this.#layout = layout
    this.#headHeight = headHeight
    this.#measure()
  }

  scrollTo(offset: number): void {
    const before = this.#offset
    this.#offset = clampOffset(this.#shape, offset)
    this.#placeThumb()
    this.#moved(before)
  }

  scrollToLeft(left: number): void {
    if (this.#element !== null) this.#element.scrollLeft = left
  }

  /** Brings a row into sight; in the middle when it is far off. */
  showRow(row: number): void {
    const { viewport } = this.#shape
    const top = row * ROW_HEIGHT
    const isFar = top < this.#offset - viewport || top > this.#offset + 2 * viewport
    this.#glide.stop()
    this.scrollTo(isFar ? top - viewport / 2 : offsetToShow(this.#shape, this.#offset, top, ROW_HEIGHT))
  }

  #onScroll = (): void => {
    const element = this.#element
    if (element === null) return
    const before = this.#offset
    const top = element.scrollTop
    this.#left = element.scrollLeft
    if (Math.abs(top - this.#expectedTop) >= 1) {
      this.#offset = this.#offsetFrom(top)
      this.#expectedTop = top
    }
    this.#moved(before)
  }

  /** The thumb means a ratio; a finger means pixels. */
  #offsetFrom(top: number): number {
    if (!this.#isTouched || !isScaled(this.#shape)) return toOffset(this.#shape, top)
    return clampOffset(this.#shape, this.#offset + top - this.#expectedTop)
  }

  #onWheel = (event: WheelEvent): void => {
    this.#isTouched = false
    if (!isScaled(this.#shape) || event.ctrlKey) return
    const { x, y } = pixelsOf(event, this.#shape.viewport)
    if (y === 0) return
    event.preventDefault()
    if (x !== 0) this.scrollToLeft(this.#left + x)
    this.#glide.push(y)
  }

  #onTouch = (): void => {
    this.#isTouched = true
    this.#glide.stop()
  }

  /** After a finger has moved the rows by pixels, the thumb is where it belongs again. */
  #onScrollEnd = (): void => {
    if (this.#isTouched) this.#placeThumb()
  }

  #measure(): void {
    const element = this.#element
    if (element === null) return
    const before = this.#offset
    this.#shape = {
      content: this.#count * ROW_HEIGHT,
      viewport: Math.max(0, element.clientHeight - this.#headHeight),
    }
    this.#left = element.scrollLeft
    this.#offset = clampOffset(this.#shape, this.#offset)
    this.#placeThumb()
    this.#moved(before)
  }

  #placeThumb(): void {
    const element = this.#element
    if (element === null) return
    const wanted = toScrollTop(this.#shape, this.#offset)
    if (Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted
    // The browser rounds, and may not be as tall yet.
    this.#expectedTop = element.scrollTop
  }

  #moved(before: number): void {
    for (const listener of this.#moveListeners) listener()
    const now = this.#look(before)
    if (isSameView(now, this.#view)) return
    this.#view = now
    for (const listener of this.#listeners) listener()
  }

  #look(before: number): ScrollView {
    const { viewport } = this.#shape
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.#element ?? {}
    return {
      rows: rowWindow(this.#offset, viewport, ROW_HEIGHT, this.#count),
      columns: this.#layout === null ? NOTHING.columns : columnWindow(this.#layout, this.#left, width),
      width,
      height,
      direction: this.#offset === before ? this.#view.direction : this.#offset < before ? 'up' : 'down',
      pageRows: Math.max(1, Math.floor(viewport / ROW_HEIGHT) - 1),
    }
  }
}

function isSameView(a: ScrollView, b: ScrollView): boolean {
  return (
    a.rows.first === b.rows.first &&
    a.rows.end === b.rows.end &&
    a.rows.size === b.rows.size &&
    a.columns.first === b.columns.first &&
    a.columns.end === b.columns.end &&
    a.width === b.width &&
    a.height === b.height
  )
}
