const names = ["window", "document", "location", "history", "fetch", "performance", "localStorage", "matchMedia", "getComputedStyle", "requestAnimationFrame", "setTimeout", "clearTimeout", "setInterval", "innerWidth", "EventSource", "URLSearchParams", "TextDecoder", "Blob", "Node", "Element", "btoa", "atob", "Response", "File", "PointerEvent"];
export default [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: Object.fromEntries(names.map((n) => [n, "readonly"])) },
    rules: {
      "no-undef": "error", "no-unused-vars": ["error", { argsIgnorePattern: "^_" }], "prefer-const": ["error", { destructuring: "all" }], "no-var": "error", eqeqeq: "error", "no-eval": "error", "no-implied-eval": "error",
      "no-restricted-properties": ["error", { property: "innerHTML", message: "text must stay text: use h()" }, { property: "outerHTML", message: "text must stay text: use h()" }, { property: "insertAdjacentHTML", message: "text must stay text: use h()" }],
      "no-unreachable": "error", "no-dupe-keys": "error", "no-self-compare": "error", "no-constant-condition": "error", "no-empty": "error", "no-shadow": "error", "require-await": "error",
    },
  },
];
