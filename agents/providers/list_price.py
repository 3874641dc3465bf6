"""What a model costs by the list prices of its vendor, where nobody has said another price."""

from agents.providers.address import is_loopback


class ListPrice:
    """The published price of a model at the server of that address, by each call's length."""

    def __init__(self, model: str, base_url: str) -> None:
        self._model, self._base_url = model, base_url

    def of(self, given: float, made: float, cached: float = 0) -> float:
        """Return the US dollars for one call; of the tokens given so many were cached.

        Raises LookupError for a model or a server that is not in the list.
        """
        # 0.2 s and 14 MB: only for who asks. The list is the package's own; nothing is fetched.
        from genai_prices import Usage, calc_price

        read = min(int(cached), int(given)) or None
        usage = Usage(input_tokens=int(given), output_tokens=int(made), cache_read_tokens=read)
        found = calc_price(usage, self._model, provider_api_url=self._base_url)
        if found.model_price.input_mtok is None or found.model_price.output_mtok is None:
            raise LookupError(f"{self._model} is not paid for by tokens given and made")
        return float(found.total_price)


def list_price_of(model: str, base_url: str) -> ListPrice | None:
    """Return the list price of a model at that server, None where it has none.

    The address decides: a model of the same name on a server of one's own has no list price.
    """
    if not base_url or is_loopback(base_url):
        return None
    price = ListPrice(model, base_url)
    try:
        price.of(1, 1)
    except LookupError:
        return None
    return price
