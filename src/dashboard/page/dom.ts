type Child = Node | string | null;

/** An element with attributes and children. `null` children are left out. Text only: nothing here is ever parsed as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** The element of the page's own markup with this id. */
export function at(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no element #${id}`);
  return element;
}

/** Touches the document only where something differs: most of what is shown stays as it is. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Makes `parent` hold one element per item, in order; an item that was there keeps its element. */
export class Keyed<T extends { readonly id: string }, V extends { readonly element: Element }> {
  readonly #parent: Element;
  readonly #make: (item: T) => V;
  readonly #views = new Map<string, V>();

  constructor(parent: Element, make: (item: T) => V) {
    this.#parent = parent;
    this.#make = make;
  }

  /** `each` is told of every item and its view. */
  show(list: readonly T[], each: (view: V, item: T) => void = () => undefined): void {
    const items = new Map(list.map((item) => [item.id, item]));
    // Those that leave go first: what is left stands in order already, and nothing has to be moved.
    for (const [key, { element }] of this.#views) {
      if (items.has(key)) continue;
      element.remove();
      this.#views.delete(key);
    }
    let next = this.#parent.firstElementChild;
    for (const [key, item] of items) {
      let view = this.#views.get(key);
      if (view === undefined) {
        view = this.#make(item);
        this.#views.set(key, view);
      }
      if (next === view.element) next = next.nextElementSibling;
      else this.#parent.insertBefore(view.element, next);
      each(view, item);
    }
  }
}

/** A long list of which the first items are shown until a reader wants all. */
export class Folded {
  readonly #button: HTMLElement;
  readonly #most: number;
  #all = false;

  constructor(button: HTMLElement, most: number, onChange: () => void) {
    this.#button = button;
    this.#most = most;
    button.addEventListener("click", () => {
      this.#all = !this.#all;
      onChange();
    });
  }

  /** The items to show. */
  of<T>(items: readonly T[]): readonly T[] {
    this.#button.hidden = items.length <= this.#most;
    setText(this.#button, this.#all ? "Show fewer" : `Show all ${items.length}`);
    return this.#all ? items : items.slice(0, this.#most);
  }
}
