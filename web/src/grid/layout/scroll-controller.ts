import { NORMAL_HEIGHT } from '../../state/columns.ts'
import type { ColumnLayout } from './column-layout.ts'
import { visibleRows, type RowRange } from './row-window.ts'
import type { ScrollPlace } from './kept-place.ts'
import { PendingJump } from './pending-jump.ts'
import { clampOffset, isScaled, offsetToShow, type ScrollShape } from './scroll-scale.ts'
import { ScrollThumb } from './scroll-thumb.ts'
import { isSameView, computeView, NOTHING, type ScrollView } from './scroll-view.ts'
import { pixelsOf, WheelGlide } from './wheel-glide.ts'

interface ScrolledContent {
  readonly count: number
  readonly layout: ColumnLayout
  readonly headHeight: number
  readonly rowHeight: number
}

/**
 * Holds the scroll position and the visible rows and columns. The offset within all rows is authoritative; the
 * browser's scroll bar follows it, except while the user moves the thumb (see scroll-scale.ts).
 */
export class ScrollController {
  readonly #listeners = new Set<() => void>()
  readonly #moveListeners = new Set<() => void>()
  readonly #glide = new WheelGlide((by) => this.scrollTo(this.#aim + by))
  readonly #thumb = new ScrollThumb()
  readonly #jump = new PendingJump((offset) => this.#show(offset))
  #areLoaded: (rows: RowRange) => boolean = () => true
  #element: HTMLElement | null = null
  #shape: ScrollShape = { content: 0, viewport: 0 }
  #count = 0
  #layout: ColumnLayout | null = null
  #headHeight = 0
  #rowHeight = NORMAL_HEIGHT
  #offset = 0
  #left = 0
  #view = NOTHING
  /** The place to begin at, until the element has its size. */
  #start: ScrollPlace | null = null

  get offset(): number {
    return this.#offset
  }

  /** The target offset of a pending jump, else the present offset. */
  get #aim(): number {
    return this.#jump.goal ?? this.#offset
  }

  get rowHeight(): number {
    return this.#rowHeight
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

  /** Calls back when other rows or columns have to be rendered. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back on every move, before rendering. */
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
      this.#jump.drop()
      this.#element = null
    }
  }

  /** Sets the size of the content. The offset is kept within it; rows of another height keep the first one in view. */
  set({ count, layout, headHeight, rowHeight }: ScrolledContent): void {
    this.#offset *= rowHeight / this.#rowHeight
    this.#rowHeight = rowHeight
    this.#count = count
    this.#layout = layout
    this.#headHeight = headHeight
    this.#measure()
  }

  /** Sets which rows are loaded; call again after every load. */
  setLoaded(areLoaded: (rows: RowRange) => boolean): void {
    this.#areLoaded = areLoaded
    this.#jump.look((offset) => areLoaded(this.#visibleAt(offset)))
  }

  /** Begins at a place, without waiting for its rows. */
  beginAt(place: ScrollPlace): void {
    this.#start = place
    this.#measure()
  }

  scrollTo(offset: number): void {
    this.#go(offset)
    this.#placeThumb()
  }

  scrollToLeft(left: number): void {
    if (this.#element !== null) this.#element.scrollLeft = left
  }

  /** Scrolls a row into view; to the middle if it is far away. */
  showRow(row: number): void {
    const { viewport } = this.#shape
    const top = row * this.#rowHeight
    const from = this.#aim
    const isFar = top < from - viewport || top > from + 2 * viewport
    this.#glide.stop()
    this.scrollTo(isFar ? top - viewport / 2 : offsetToShow(this.#shape, from, top, this.#rowHeight))
  }

  /** Scrolls to an offset: at once if its rows are loaded or those in view are not, else when they are. */
  #go(wanted: number): void {
    const offset = clampOffset(this.#shape, wanted)
    const isJump = Math.abs(offset - this.#offset) > this.#shape.viewport
    if (!isJump || this.#areLoaded(this.#visibleAt(offset))) {
      this.#jump.drop()
      this.#show(offset)
      return
    }
    this.#jump.jump(offset)
    // While no visible row is loaded, only the row numbers change.
    this.#show(this.#areLoaded(this.#visibleAt(this.#offset)) ? this.#offset : offset)
  }

  #show(offset: number): void {
    const before = this.#offset
    this.#offset = clampOffset(this.#shape, offset)
    this.#moved(before)
  }

  #visibleAt(offset: number): RowRange {
    return visibleRows(offset, this.#shape.viewport, this.#rowHeight, this.#count)
  }

  #onScroll = (): void => {
    const element = this.#element
    if (element === null) return
    this.#left = element.scrollLeft
    const offset = this.#thumb.read(element, this.#shape, this.#aim)
    if (offset === null) this.#moved(this.#offset)
    else this.#go(offset)
  }

  #onWheel = (event: WheelEvent): void => {
    this.#thumb.touch(false)
    if (!isScaled(this.#shape) || event.ctrlKey) return
    const { x, y } = pixelsOf(event, this.#shape.viewport)
    if (y === 0) return
    event.preventDefault()
    if (x !== 0) this.scrollToLeft(this.#left + x)
    this.#glide.push(y)
  }

  #onTouch = (): void => {
    this.#thumb.touch(true)
    this.#glide.stop()
  }

  /** After touch scrolling, which is by pixels, puts the thumb back in proportion. */
  #onScrollEnd = (): void => {
    if (this.#thumb.isTouched) this.#placeThumb()
  }

  #measure(): void {
    const element = this.#element
    if (element === null) return
    const before = this.#offset
    this.#shape = {
      content: this.#count * this.#rowHeight,
      viewport: Math.max(0, element.clientHeight - this.#headHeight),
    }
    const { offset, left } = this.#start ?? { offset: this.#offset, left: element.scrollLeft }
    if (this.#start !== null) element.scrollLeft = left
    this.#start = null
    this.#left = element.scrollLeft
    this.#offset = clampOffset(this.#shape, offset)
    this.#placeThumb()
    this.#moved(before)
  }

  #placeThumb(): void {
    if (this.#element !== null) this.#thumb.place(this.#element, this.#shape, this.#aim)
  }

  #moved(before: number): void {
    for (const listener of this.#moveListeners) listener()
    const aim = this.#aim
    const now = computeView({
      offset: this.#offset,
      aim,
      direction: aim === before ? this.#view.direction : aim < before ? 'up' : 'down',
      viewport: this.#shape.viewport,
      left: this.#left,
      count: this.#count,
      rowHeight: this.#rowHeight,
      layout: this.#layout,
      element: this.#element,
    })
    if (isSameView(now, this.#view)) return
    this.#view = now
    for (const listener of this.#listeners) listener()
  }
}
